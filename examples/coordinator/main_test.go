package main

func Example() {
	main()
	// Output:
	// 2 jobs pending
}
