package client

import "fmt"

// silent says why the other nodes do not answer. If no node answers, it returns an error.
func ofEach[T any](c *Client, get func(*Client) (T, error)) (all []T, silent []string, err error) {
	for _, one := range c.Each() {
		answer, failure := get(one)
		switch {
		case failure == nil:
			all = append(all, answer)
			continue
		case err == nil:
			err = failure
		default:
			err = fmt.Errorf("%w; %w", err, failure)
		}
		silent = append(silent, one.Failed(failure).Error())
	}
	if len(all) > 0 {
		err = nil
	}
	return all, silent, err
}
