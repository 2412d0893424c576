package graphql

import "time"

// crew are goroutines that do one piece of work after the other. Each new one
// begins with a small stack, which grows several times while it asks Hasura: that
// costs a twentieth of a download whose question nobody shares.
type crew chan func()

// idleTime is how long a goroutine of a crew waits for more work.
const idleTime = time.Second

// run has work done, by a goroutine that waits for some if there is one.
func (c crew) run(work func()) {
	select {
	case c <- work:
	default:
		go c.join(work)
	}
}

func (c crew) join(work func()) {
	idle := time.NewTimer(idleTime)
	defer idle.Stop()
	for {
		work()
		idle.Reset(idleTime)
		select {
		case work = <-c:
		case <-idle.C:
			return
		}
	}
}
