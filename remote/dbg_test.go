package remote_test
import ("testing";"time";"fmt";"github.com/understudy-go/understudy/actor";"sync/atomic")
func TestDbg(t *testing.T) {
	from, to := startTCP(t), startTCP(t)
	var arrived atomic.Int64
	actor.Spawn(to.sys, receive(func([]byte) { arrived.Add(1) }), "sink")
	sink := ref[[]byte](from, to, "/user/sink")
	payload := make([]byte, 100)
	begin := time.Now()
	for i := range int64(500000) {
	for i-arrived.Load() >= 4096 { time.Sleep(100*time.Microsecond); if time.Since(begin)>5*time.Second { fmt.Println("stuck", i); goto end} }
	sink.Tell(payload)
	}
	time.Sleep(500*time.Millisecond)
end:
	fmt.Println(arrived.Load(), len(from.lost.got()), len(to.lost.got()))
	for _, l := range from.lost.got()[:min(3,len(from.lost.got()))] { fmt.Println(l.Reason) }
	for _, l := range to.lost.got()[:min(3,len(to.lost.got()))] { fmt.Println(l.Reason) }
	for _, l := range from.logs.All() { fmt.Println(l.Level, l.Message, l.ContextMap()) }
	for _, l := range to.logs.All() { fmt.Println(l.Level, l.Message, l.ContextMap()) }
}
