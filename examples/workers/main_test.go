package main

func Example() {
	main()
	// Output:
	// the only worker has ended during its second job
	// 100 jobs done, each acknowledged by a worker
}
