package bench

// A SingletonHost is a [Contender] with singletons. Only such contenders run the scenarios whose
// names begin with [SingletonPrefix].
type SingletonHost interface {
	Contender
	// ServeSingleton starts a node with two singletons, a sink and an adder, as [Contender].Serve
	// does with actors. It returns the address of the node.
	ServeSingleton(got func(payload []byte)) (address string)
	// DialSingleton starts a node in another process, which joins the first one.
	DialSingleton(address string) Connection
}

// SingletonPrefix begins the names of the scenarios with singletons.
const SingletonPrefix = "singleton-"

func singletonHost(c Contender) SingletonHost {
	host, ok := c.(SingletonHost)
	if !ok {
		fail("this library has no singletons")
	}
	return host
}

func singletonTell(c Contender, r *Run) {
	dialAndTell(r, singletonHost(c).DialSingleton, serveSingleton, payloadSize, 1)
}

func singletonAsk(c Contender, r *Run) {
	dialAndAsk(r, singletonHost(c).DialSingleton, serveSingleton, 1)
}
