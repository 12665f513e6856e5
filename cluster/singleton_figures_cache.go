package cluster

import "time"

// figuresLast is how long the figures of a member that does not answer are shown.
const figuresLast = 5 * time.Second

// A figuresPage has the figures that a member has sent.
type figuresPage struct {
	figuresTold
	at time.Time
}

// withFigures returns the change that answers make to the figures of members.
func withFigures(answers map[ID]figuresTold) func(old map[ID]figuresPage) map[ID]figuresPage {
	return func(old map[ID]figuresPage) map[ID]figuresPage {
		now, all := time.Now(), map[ID]figuresPage{}
		for id, page := range old {
			if now.Sub(page.at) < figuresLast {
				all[id] = page
			}
		}
		for id, told := range answers {
			all[id] = figuresPage{told, now}
		}
		return all
	}
}

// known returns the last figures of the members, and those of this node, self.
func (e *figuresExchange) known(self ID) map[ID]figuresTold {
	all := map[ID]figuresTold{}
	for id, page := range e.answers.read() {
		all[id] = page.figuresTold
	}
	all[self] = e.own()
	return all
}
