import { keyScopes, type KeyScope } from './key-scopes.ts'

/** `member` looks at everything, `admin` changes everything too, `owner` also says who the owners are. */
export const consoleRoles = ['owner', 'admin', 'member'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

/** What a user of the console may do, in the words of what a key may do. */
export function scopesOfRole(role: ConsoleRole): readonly KeyScope[] {
  return role === 'member' ? ['read'] : keyScopes
}
