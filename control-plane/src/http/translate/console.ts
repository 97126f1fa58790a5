import type { SignedIn } from '@tollgate/domain/console/sign-in'
import { hasSignIn, type ConsoleUser } from '@tollgate/domain/console/users'
import type { SignedInBody, SignedInUserBody } from '@tollgate/schemas/http/console-auth'
import type { ConsoleUserBody } from '@tollgate/schemas/http/console-users'
import { definedFields } from '../../domain/defined-fields.ts'

export function signedInToHttp(signedIn: SignedIn): SignedInBody {
  const { accessToken } = signedIn
  return { status: 'signed_in', accessToken, ...signedInUserToHttp(signedIn) }
}

type SignedInUser = Pick<SignedIn, 'provider' | 'environment' | 'expiresAt'> & {
  readonly user: Pick<ConsoleUser, 'userId' | 'email' | 'name' | 'role'>
}

export function signedInUserToHttp({
  user,
  provider,
  environment,
  expiresAt,
}: SignedInUser): SignedInUserBody {
  const { userId, email, name, role } = user
  return {
    user: { userId, email, role, ...definedFields({ name }) },
    provider: { providerId: provider.providerId, name: provider.name, isLive: provider.isLive },
    environment,
    expiresAt: expiresAt.toISOString(),
  }
}

export function consoleUserToHttp(user: ConsoleUser): ConsoleUserBody {
  const { userId, email, name, role, createdAt } = user
  return {
    userId,
    email,
    role,
    status: hasSignIn(user) ? 'active' : 'invited',
    createdAt: createdAt.toISOString(),
    ...definedFields({ name }),
  }
}
