package main

func Example() {
	main()
	// Output:
	// GET /stock/apples -> 200 {"left":10}
	// POST /stock/apples/reservations {"count": 7} -> 201 {"left":3}
	// POST /stock/apples/reservations {"count": 7} -> 409 too few are left
	// POST /stock/pears/reservations {"count": 1} -> 404 no such goods
	// POST /stock/apples/reservations {"count": "many"} -> 400 json: cannot unmarshal string into Go struct field .Count of type uint16
}
