import type { ConsoleRole } from './console-roles.ts'

type UserWithRole = { readonly userId: string; readonly role: ConsoleRole }

/** A change of one user by another user, or by an operator of the installation. */
export type UserChange =
  | { readonly kind: 'invite'; readonly role: ConsoleRole }
  | { readonly kind: 'update'; readonly userId: string; readonly role: ConsoleRole | undefined }
  | { readonly kind: 'remove'; readonly userId: string }
  | { readonly kind: 'send-link'; readonly userId: string }

export type UserChangeRefusal = 'not-found' | 'role-too-low' | 'last-owner'

/**
 * Returns why the change is refused, or undefined if it is allowed. Only owners may change owners or make users owners.
 * Owners and admins may change all other users. A provider that has owners keeps at least one. `actorId` is undefined
 * for an operator, to whom only the last rule applies. The API decides by these rules, and the console shows them.
 */
export function refuseUserChange(
  users: readonly UserWithRole[],
  actorId: string | undefined,
  change: UserChange,
): UserChangeRefusal | undefined {
  const find = (userId: string): UserWithRole | undefined =>
    users.find((user) => user.userId === userId)
  const target = change.kind === 'invite' ? undefined : find(change.userId)
  if (change.kind !== 'invite' && target === undefined) return 'not-found'
  const roleAfter = 'role' in change ? (change.role ?? target?.role) : undefined
  if (actorId !== undefined) {
    const actorRole = find(actorId)?.role
    const isOfOwners = target?.role === 'owner' || roleAfter === 'owner'
    const isAllowed = actorRole === 'owner' || (actorRole === 'admin' && !isOfOwners)
    if (!isAllowed) return 'role-too-low'
  }
  const losesOwner =
    target?.role === 'owner' && change.kind !== 'send-link' && roleAfter !== 'owner'
  const owners = users.filter(({ role }) => role === 'owner').length
  return losesOwner && owners === 1 ? 'last-owner' : undefined
}
