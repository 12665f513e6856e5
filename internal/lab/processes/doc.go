// Package processes starts the test binary of a store again as further processes, which write to
// the same journal and are stopped, continued and killed. TestMain calls [Main] with their roles,
// at least those of [Writers]; [Start] starts a process. [Storm], [Fight], [OutOfFiles] and
// [Migrate] are tests for every store whose journals several processes can open at once.
package processes
