import { scopesOfRole } from '@tollgate/schemas/console-roles'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import type { Answer } from '../api/answers.ts'
import { useApi } from './environment-api.tsx'

export type SignedInUser = Answer<'getSignedInUser'>

/** Returns the signed-in user. The page waits until the user is known. */
export function useUser(): SignedInUser {
  const { hooks } = useApi()
  return hooks.useSuspenseQuery('get', '/v1/ui/auth/me', {}, { staleTime: 60_000 }).data
}

/** Returns the reason if the user's role lacks the scope, and undefined otherwise. The API decides by the same roles. */
export function useRefusal(scope: KeyScope): string | undefined {
  const { role } = useUser().user
  if (scopesOfRole(role).includes(scope)) return undefined
  return `Your role (${role}) can only view. Ask an owner or an admin.`
}
