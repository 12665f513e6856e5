package services

// Len returns how many services this process has used and not forgotten.
func (o *Services) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.services)
}
