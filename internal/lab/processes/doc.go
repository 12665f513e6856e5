// Package processes lets the test binary of a store be other processes, too, which write to
// the same journal, are stopped, continued and killed. TestMain calls [Main] with the roles
// that they can play, which are at least [Writers]; [Start] starts one. [Storm],
// [Fight] and [OutOfFiles] are tests of every store whose journals several processes can
// open at once.
package processes
