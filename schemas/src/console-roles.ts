import { keyScopes, type KeyScope } from './key-scopes.ts'

/** `member` may read everything, `admin` may also change everything, and `owner` may also appoint owners. */
export const consoleRoles = ['owner', 'admin', 'member'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

/** Returns the scopes of a console user's role. They are the same as the scopes of secret keys. */
export function scopesOfRole(role: ConsoleRole): readonly KeyScope[] {
  return role === 'member' ? ['read'] : keyScopes
}
