package main

func Example() {
	main()
	// Output:
	// apples 1
	// pears 2
	// pears 2
	// plums 3
}
