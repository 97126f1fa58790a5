import { consoleRoles } from '@tollgate/schemas/console-roles'
import {
  refuseUserChange,
  type UserChange,
  type UserChangeRefusal,
} from '@tollgate/schemas/refuse-user-change'
import type { Member } from './member.ts'

type User = Pick<Member, 'userId' | 'role'>

const texts: Readonly<Record<UserChangeRefusal, string>> = {
  'not-found': 'This person was removed.',
  'role-too-low': 'Only owners can appoint, change or remove owners. Ask an owner.',
  'last-owner': 'This person is the last owner. Appoint another owner first.',
}

/** Returns the reason why the user may not make the change, or undefined. */
export function changeRefusal(
  users: readonly User[],
  { userId }: User,
  change: UserChange,
): string | undefined {
  const refusal = refuseUserChange(users, userId, change)
  return refusal === undefined ? undefined : texts[refusal]
}

/** Returns the reason why the user may not give the member any other role, or undefined. */
export function roleRefusal(users: readonly User[], user: User, member: User): string | undefined {
  const refusals = consoleRoles
    .filter((role) => role !== member.role)
    .map((role) => changeRefusal(users, user, { kind: 'update', userId: member.userId, role }))
  return refusals.includes(undefined) ? undefined : refusals[0]
}
