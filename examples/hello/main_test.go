package main

func Example() {
	main()
	// Output:
	// Hello, Ada! You are number 1.
	// Hello, Carl! You are number 2.
}
