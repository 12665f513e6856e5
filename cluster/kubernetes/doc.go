// Package kubernetes tells Kubernetes which pods of a Deployment it should delete last: those that
// run singletons.
//
// In a rolling update, Kubernetes deletes the old pods one after the other, and without a reason to
// prefer one it may begin with the oldest. Its singletons then move to the next oldest pod, which
// is deleted next. With the annotation controller.kubernetes.io/pod-deletion-cost, which
// [MarkPod] writes, the pods without singletons are deleted first. When the host follows, the
// oldest pod is a new one, so each singleton moves once.
//
// # Permission
//
// The service account of the pods needs this rule, and its token must be mounted
// (automountServiceAccountToken: true):
//
//	rules:
//	- apiGroups: [""]
//	  resources: [pods]
//	  verbs: [patch]
//
// Kubernetes cannot restrict it to the annotation or to the own pod: a program with this token may
// change the image of every pod of its namespace. Use it in a namespace that has only these pods.
//
// This package is experimental: a minor release may change it.
package kubernetes
