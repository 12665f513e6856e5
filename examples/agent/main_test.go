package main

func Example() {
	main()
	// Output:
	// a person is asked: May I refund 30 EUR?
	// the system has ended, after 2 calls of the model; another begins
	//     user: My teapot is broken.
	//    model: I look up the order.
	//   orders: one teapot, 30 EUR
	//    model: May I refund 30 EUR?
	//   refund: done
	//    model: I have refunded 30 EUR.
	// ticket 2: the budget is used up: 5 calls of the model
}
