import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { ApiKeyBody } from '@tollgate/schemas/http/api-keys'
import type { SignedInBody, SignedInUserBody } from '@tollgate/schemas/http/console-auth'
import type { ConsoleUserBody } from '@tollgate/schemas/http/console-users'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import { createUser, inviteByOperator, password, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Users of the console: how they are invited, and what each role may do. */

type Invited = { user: ConsoleUserBody; passwordLink: { url: string; expiresAt: string } }

let stack: TestStack
let tenant: Tenant
let count = 0

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      ...quickPasswords,
    },
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T00:00:00Z')
  tenant = await stack.createTenant()
})

function freshEmail(): string {
  count += 1
  return `person${count}@example.com`
}

async function signedInAs(role: ConsoleRole): Promise<{ token: string; userId: string }> {
  const email = freshEmail()
  const userId = await createUser(stack, tenant, email, role)
  return { userId, token: (await signIn(stack, email)).accessToken }
}

function trySignIn(email: string, given: string, address?: string, more: object = {}) {
  return stack.callRaw<SignedInBody>(undefined, 'POST', '/v1/ui/auth/sign-in', {
    body: JSON.stringify({ email, password: given, ...more }),
    headers: address === undefined ? {} : { 'x-forwarded-for': address },
  })
}

async function statusOf(token: string, method = 'GET', path = '/v1/ui/meters', body?: unknown) {
  return (await stack.call(token, method, path, body)).status
}

describe('signing in', () => {
  test('accepts a link once, then a password, and returns the user and the environment', async () => {
    const email = 'Ada@Example.com'
    const { token, userId } = await inviteByOperator(stack, tenant, email)
    expect((await trySignIn(email, password)).status).toBe(401)
    const path = '/v1/ui/auth/password'
    const set = () => stack.call<object>(undefined, 'POST', path, { token, password })
    expect(await set()).toMatchObject({ status: 200, body: { success: true, email } })
    expect((await set()).status).toBe(400)

    const { body } = await trySignIn('ada@example.COM', password, undefined, {
      environment: 'live',
    })
    expect(body).toMatchObject({
      status: 'signed_in',
      user: { userId, email, role: 'owner' },
      provider: { providerId: tenant.providerId, name: 'Acme' },
      environment: 'live',
      expiresAt: '2026-03-01T12:00:00.000Z',
    })
    const me = await stack.call<SignedInUserBody>(body.accessToken, 'GET', '/v1/ui/auth/me')
    const { accessToken: _, status: __, ...who } = body
    expect(me.body).toEqual(who)
  })

  test('expires after its time, whatever the user does meanwhile', async () => {
    const { token } = await signedInAs('member')
    stack.clock.set('2026-03-01T11:59:59Z')
    expect(await statusOf(token)).toBe(200)
    stack.clock.set('2026-03-01T12:00:00Z')
    expect(await statusOf(token)).toBe(401)
  })

  test('expires a link after its time, and replaces it with the next one', async () => {
    const { token, userId } = await inviteByOperator(stack, tenant, freshEmail())
    const owner = await signedInAs('owner')
    const path = `/v1/ui/users/${userId}/password-link`
    const { body } = await stack.call<Invited>(owner.token, 'POST', path)
    const [page, second = ''] = body.passwordLink.url.split('#token=')
    expect(page).toMatch(/\/console\/set-password$/)
    const set = async (each: string) => {
      const given = { token: each, password }
      return (await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)).status
    }
    expect(await set(token)).toBe(400)
    stack.clock.set(body.passwordLink.expiresAt)
    expect(await set(second)).toBe(400)
    stack.clock.set('2026-03-01T00:00:00Z')
    expect(await set(second)).toBe(200)
  })

  test('lets one of two concurrent requests with the same link set the password', async () => {
    const { token } = await inviteByOperator(stack, tenant, freshEmail())
    const answers = await Promise.all(
      ['first password', 'second password'].map((each) =>
        stack.call(undefined, 'POST', '/v1/ui/auth/password', { token, password: each }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('refuses a wrong password, an unknown address and an invited user with the same text', async () => {
    const email = freshEmail()
    await createUser(stack, tenant, email)
    const invited = freshEmail()
    await inviteByOperator(stack, tenant, invited)
    const answers = await Promise.all([
      trySignIn(email, 'wrong password'),
      trySignIn('nobody@example.com', password),
      trySignIn(invited, password),
    ])
    for (const { status, body } of answers) {
      expect({ status, body }).toMatchObject({
        status: 401,
        body: { statusCode: 401, error: 'Unauthorized', message: 'Wrong email or password' },
      })
    }
  })

  test('asks which provider if a user has one password at several', async () => {
    const other = await stack.createTenant()
    const email = freshEmail()
    for (const each of [tenant, other]) await createUser(stack, each, email)
    const { body } = await trySignIn(email, password)
    const both = [tenant, other].map(({ providerId }) => ({ providerId, name: 'Acme' }))
    const providers = expect.arrayContaining(both) as unknown
    expect(body).toEqual({ status: 'choose_provider', providers })
    const { providerId } = other
    const chosen = await trySignIn(email, password, undefined, { providerId })
    expect(chosen.body.provider).toEqual({ providerId, name: 'Acme', isLive: true })
    const third = await stack.createTenant()
    const elsewhere = { providerId: third.providerId }
    expect((await trySignIn(email, password, undefined, elsewhere)).status).toBe(401)
  })

  test('distinguishes users with the same address by their passwords, which it hashes once', async () => {
    const other = await stack.createTenant()
    const email = freshEmail()
    await createUser(stack, tenant, email)
    const { token } = await inviteByOperator(stack, other, email)
    const mine = 'another password'
    await stack.call(undefined, 'POST', '/v1/ui/auth/password', { token, password: mine })
    expect((await trySignIn(email, password)).body.provider.providerId).toBe(tenant.providerId)
    expect((await trySignIn(email, mine)).body.provider.providerId).toBe(other.providerId)
    const rows = await stack.database.control<{ salt: string }[]>`
      select distinct split_part(password_hash, '$', 5) as salt from console_users
      where email = ${email}`
    expect(rows.length).toBe(1)
  })
})

describe('an access token', () => {
  test('is valid in one environment, and a second one in the other', async () => {
    const { token } = await signedInAs('admin')
    await stack.call(token, 'POST', '/v1/ui/meters', { name: 'pages' })
    const path = '/v1/ui/auth/environment'
    const { body } = await stack.call<SignedInBody>(token, 'POST', path, { environment: 'live' })
    expect(body).toMatchObject({ environment: 'live', expiresAt: '2026-03-01T12:00:00.000Z' })
    const namesSeenBy = async (each: string) =>
      (await stack.call<{ meters: MeterBody[] }>(each, 'GET', '/v1/ui/meters')).body.meters.map(
        ({ name }) => name,
      )
    expect(await namesSeenBy(token)).toEqual(['pages', 'requests'])
    expect(await namesSeenBy(body.accessToken)).toEqual(['requests'])
    expect(await statusOf(body.accessToken, 'POST', '/v1/ui/auth/sign-out')).toBe(200)
    expect([await statusOf(token), await statusOf(body.accessToken)]).toEqual([401, 401])
  })

  test('can only switch back if the provider does not have its environment', async () => {
    const { token } = await signedInAs('owner')
    await stack.database.control`
      update providers set is_live = false where provider_id = ${tenant.providerId}`
    const path = '/v1/ui/auth/environment'
    const { body } = await stack.call<SignedInBody>(token, 'POST', path, { environment: 'live' })
    expect(await statusOf(body.accessToken)).toBe(403)
    const back = await stack.call<SignedInBody>(body.accessToken, 'POST', path, {
      environment: 'sandbox',
    })
    expect(await statusOf(back.body.accessToken)).toBe(200)
  })

  test('sees its own provider only', async () => {
    const { token } = await signedInAs('owner')
    const other = await stack.createTenant()
    const { body } = await stack.call<MeterBody>(other.sandboxKey, 'POST', '/v1/ui/meters', {
      name: 'theirs',
    })
    expect(await statusOf(token, 'GET', `/v1/ui/meters/${body.reference}`)).toBe(404)
    const stranger = freshEmail()
    const theirs = await createUser(stack, other, stranger)
    for (const [method, path] of [
      ['PATCH', `/v1/ui/users/${theirs}`],
      ['DELETE', `/v1/ui/users/${theirs}`],
      ['POST', `/v1/ui/users/${theirs}/password-link`],
    ] as const) {
      expect(await statusOf(token, method, path, method === 'PATCH' ? {} : undefined)).toBe(404)
    }
    const { body: list } = await stack.call<{ users: ConsoleUserBody[] }>(
      token,
      'GET',
      '/v1/ui/users',
    )
    expect(list.users.map(({ email }) => email)).not.toContain(stranger)
  })

  test('works on console routes, and not on the API for programs', async () => {
    const { token } = await signedInAs('owner')
    expect(await statusOf(token, 'GET', '/v1/sdk/products')).toBe(401)
    expect(await statusOf(`${token}x`)).toBe(401)
    expect(await statusOf(token, 'GET', '/v1/sdk/key')).toBe(401)
    // A 404 for the missing meter shows that the user passed the authentication.
    expect(
      await statusOf(token, 'GET', '/ui/meters/none/usage?from=2026-01-01&to=2026-01-02'),
    ).toBe(404)
  })

  test('is stored as a hash only, like the password and the link', async () => {
    const { token } = await signedInAs('owner')
    const invited = await inviteByOperator(stack, tenant, freshEmail())
    const kept = [
      await stack.database.control`select * from access_tokens`,
      await stack.database.control`select * from console_users`,
    ]
    const text = JSON.stringify(kept)
    for (const secret of [token, token.slice(4), invited.token, password]) {
      expect(text).not.toContain(secret)
    }
  })

  test('ends when the password changes, which requires the old password', async () => {
    const { token } = await signedInAs('member')
    const change = (currentPassword: string) =>
      stack.call<SignedInBody>(token, 'PUT', '/v1/ui/auth/password', {
        currentPassword,
        newPassword: 'a longer password',
      })
    expect((await change('wrong')).status).toBe(400)
    const { status, body } = await change(password)
    expect(status).toBe(200)
    expect([await statusOf(token), await statusOf(body.accessToken)]).toEqual([401, 200])
    expect((await trySignIn(body.user.email, password)).status).toBe(401)
    expect((await trySignIn(body.user.email, 'a longer password')).status).toBe(200)
  })

  test('refuses a short password', async () => {
    const { token } = await inviteByOperator(stack, tenant, freshEmail())
    const given = { token, password: 'short' }
    expect((await stack.call(undefined, 'POST', '/v1/ui/auth/password', given)).status).toBe(400)
  })
})

describe('roles', () => {
  test('let members read everything except keys and users, and change nothing', async () => {
    const { token } = await signedInAs('member')
    expect(await statusOf(token)).toBe(200)
    expect(await statusOf(token, 'GET', '/v1/ui/exchange-rates')).toBe(200)
    const refused = await stack.call<object>(token, 'POST', '/v1/ui/meters', { name: 'pages' })
    expect(refused.status).toBe(403)
    expect(refused.body.message).toBe('A user with the role member may not do this')
    for (const path of ['/v1/ui/api-keys', '/v1/ui/users']) {
      expect(await statusOf(token, 'GET', path)).toBe(403)
    }
  })

  test('let admins change everything, including keys and users, but no owner', async () => {
    const admin = await signedInAs('admin')
    const owner = await signedInAs('owner')
    expect(await statusOf(admin.token, 'POST', '/v1/ui/meters', { name: 'pages' })).toBe(201)
    const key = await stack.call<ApiKeyBody & { secretKey: string }>(
      admin.token,
      'POST',
      '/v1/ui/api-keys',
      { name: 'ci' },
    )
    expect(key.status).toBe(201)
    expect(await statusOf(key.body.secretKey, 'GET', '/v1/sdk/products')).toBe(200)
    const invite = (role: ConsoleRole) =>
      statusOf(admin.token, 'POST', '/v1/ui/users', { email: freshEmail(), role })
    expect([await invite('owner'), await invite('admin'), await invite('member')]).toEqual([
      403, 201, 201,
    ])
    const path = `/v1/ui/users/${owner.userId}`
    expect(await statusOf(admin.token, 'PATCH', path, { role: 'member' })).toBe(403)
    expect(await statusOf(admin.token, 'DELETE', path)).toBe(403)
    expect(await statusOf(admin.token, 'POST', `${path}/password-link`)).toBe(403)
    const own = `/v1/ui/users/${admin.userId}`
    expect(await statusOf(admin.token, 'PATCH', own, { role: 'owner' })).toBe(403)
  })

  test('let owners invite, change and remove users, with effect at once', async () => {
    const owner = await signedInAs('owner')
    const email = freshEmail()
    const { body } = await stack.call<Invited>(owner.token, 'POST', '/v1/ui/users', {
      email,
      name: 'Bob',
      role: 'member',
    })
    expect(body.user).toMatchObject({ email, name: 'Bob', role: 'member', status: 'invited' })
    const again = { email: email.toUpperCase(), role: 'member' }
    expect(await statusOf(owner.token, 'POST', '/v1/ui/users', again)).toBe(409)
    const [, token] = body.passwordLink.url.split('#token=')
    await stack.call(undefined, 'POST', '/v1/ui/auth/password', { token, password })
    const bob = (await signIn(stack, email)).accessToken
    expect(await statusOf(bob, 'POST', '/v1/ui/meters', { name: 'a' })).toBe(403)
    const path = `/v1/ui/users/${body.user.userId}`
    const changed = await stack.call<ConsoleUserBody>(owner.token, 'PATCH', path, { role: 'admin' })
    expect(changed.body).toMatchObject({ role: 'admin', name: 'Bob', status: 'active' })
    expect(await statusOf(bob, 'POST', '/v1/ui/meters', { name: 'a' })).toBe(201)
    expect(await statusOf(owner.token, 'DELETE', path)).toBe(200)
    expect(await statusOf(bob)).toBe(401)
    expect((await trySignIn(email, password)).status).toBe(401)
  })

  test('keep the last owner, also when two owners remove each other at once', async () => {
    const [one, two] = [await signedInAs('owner'), await signedInAs('owner')]
    const statuses = await Promise.all([
      statusOf(one.token, 'DELETE', `/v1/ui/users/${two.userId}`),
      statusOf(two.token, 'DELETE', `/v1/ui/users/${one.userId}`),
    ])
    expect(statuses.filter((status) => status === 200).length).toBe(1)
    const left = statuses[0] === 200 ? one : two
    const path = `/v1/ui/users/${left.userId}`
    expect(await statusOf(left.token, 'DELETE', path)).toBe(400)
    expect(await statusOf(left.token, 'PATCH', path, { role: 'admin' })).toBe(400)
  })

  test('let no secret key of one environment create a user of both', async () => {
    const given = { email: freshEmail(), role: 'owner' }
    expect(await statusOf(tenant.sandboxKey, 'POST', '/v1/ui/users', given)).toBe(403)
    expect(await statusOf(tenant.sandboxKey, 'GET', '/v1/ui/auth/me')).toBe(403)
    expect(await statusOf(tenant.sandboxKey, 'GET', '/v1/ui/users')).toBe(200)
  })
})
