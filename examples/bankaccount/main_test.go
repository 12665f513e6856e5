package main

func Example() {
	main()
	// Output:
	// day 1
	//   ada gets 100.00: the balance is 100.00
	//   ada pays 30.50: the balance is 69.50
	//   bob gets 30.50: the balance is 30.50
	//   bob pays 70.00: refused, not enough money
	//   ada: 69.50 after 2 movements
	//   bob: 30.50 after 1 movements
	// day 2
	//   ada gets 100.00: the balance is 169.50
	//   ada pays 30.50: the balance is 139.00
	//   bob gets 30.50: the balance is 61.00
	//   bob pays 70.00: refused, not enough money
	//   ada: 139.00 after 4 movements
	//   bob: 61.00 after 2 movements
}
