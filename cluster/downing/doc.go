// Package downing decides which side of a split cluster continues.
//
// A member that does not answer may have crashed, may be partitioned, or may be paused; the
// other members cannot tell which. Unreachable members therefore change nothing until a
// [Strategy] takes some of them down for good. The sides of a split decide separately, without
// any message between them. On each side one member decides: the first reachable one in the
// order of election. Every decider applies the same rule to what it sees, and the rule lets at
// most one side continue. The other side downs itself.
//
// The strategies differ in which side continues, and in what they do not survive:
//
//   - [KeepMajority], the default: more than half of the members. A split into many parts, or
//     the crash of more than half of the members, ends the whole cluster.
//   - [StaticQuorum]: at least a configured number of members. The cluster must not outgrow
//     that number.
//   - [KeepOldest]: the side with the oldest member. A small side may continue while a large
//     one ends.
//   - [KeepReferee]: the side with one particular member. The crash of that member ends the
//     cluster.
//   - [LeaseMajority]: the side that gets a lease, for which the majority asks first. No side
//     continues without the lease.
//   - [DownAll]: no side. All members go down and form the cluster anew.
//   - [Manual]: the side that an operator chooses. Until then nothing changes.
//
// # Common rules
//
// A strategy waits until neither the members nor their reachability have changed for some time
// (StableAfter). If a link keeps failing, that never happens. After StableAfter plus 3/4 of it,
// at least StableAfter + 4 s, a side therefore downs itself: after 7 s by default. A side that
// would continue waits longer while it loses one member after the other. Its time starts again
// with each member that is lost for the first time, or for the second time, because a failing
// member may recover once before it dies. KeepUnstable switches this rule off.
//
// The link between two members may be broken while both reach a third member. They are then
// indirectly connected and belong to one side. Only DownAll ends a side for that, and Manual
// does nothing. The other strategies take down members with broken links, until all remaining
// members are linked to each other. Members that are joining or leaving go first. Next go the
// members with the most broken links, all of them if several have equally many. If the link
// between two members is the only broken one of both, both go down, because nobody can tell
// which one is at fault. A member with many broken links goes down alone.
//
// Members with broken links still count for their side of a split. A member that KeepOldest or
// KeepReferee depends on is spared, and so is the oldest member if the rule would leave none.
// Akka's split brain resolver calls these members indirectly connected, and takes down both
// ends of every broken link.
//
// Members that are joining do not count. The sides of a split may disagree by one step about
// which members have joined or left. No strategy lets two sides continue because of such a
// difference.
//
// A strategy is a function of values: it reads no clock and keeps no state. To write your own,
// implement [Strategy]; the tests of this package show what it should withstand.
package downing
