import { describe, expect, test } from 'vitest'
import { refuseUserChange, type UserChange } from './refuse-user-change.ts'

const users = [
  { userId: 'own', role: 'owner' },
  { userId: 'adm', role: 'admin' },
  { userId: 'mem', role: 'member' },
] as const
const operator = undefined

describe('refuseUserChange', () => {
  test.each<[string | undefined, UserChange, ReturnType<typeof refuseUserChange>]>([
    ['own', { kind: 'invite', role: 'owner' }, undefined],
    ['adm', { kind: 'invite', role: 'admin' }, undefined],
    ['adm', { kind: 'invite', role: 'owner' }, 'role-too-low'],
    ['mem', { kind: 'invite', role: 'member' }, 'role-too-low'],
    ['gone', { kind: 'invite', role: 'member' }, 'role-too-low'],
    [operator, { kind: 'invite', role: 'owner' }, undefined],
    ['adm', { kind: 'update', userId: 'mem', role: 'admin' }, undefined],
    ['adm', { kind: 'update', userId: 'mem', role: 'owner' }, 'role-too-low'],
    ['adm', { kind: 'update', userId: 'own', role: undefined }, 'role-too-low'],
    ['own', { kind: 'update', userId: 'own', role: undefined }, undefined],
    ['own', { kind: 'update', userId: 'own', role: 'owner' }, undefined],
    ['own', { kind: 'update', userId: 'own', role: 'admin' }, 'last-owner'],
    [operator, { kind: 'update', userId: 'own', role: 'admin' }, 'last-owner'],
    ['own', { kind: 'update', userId: 'none', role: 'admin' }, 'not-found'],
    ['own', { kind: 'remove', userId: 'own' }, 'last-owner'],
    ['own', { kind: 'remove', userId: 'adm' }, undefined],
    ['adm', { kind: 'remove', userId: 'adm' }, undefined],
    ['mem', { kind: 'remove', userId: 'mem' }, 'role-too-low'],
    ['adm', { kind: 'send-link', userId: 'own' }, 'role-too-low'],
    ['own', { kind: 'send-link', userId: 'own' }, undefined],
    [operator, { kind: 'send-link', userId: 'own' }, undefined],
  ])('for actor %s and change %o returns %s', (actorId, change, refusal) => {
    expect(refuseUserChange(users, actorId, change)).toBe(refusal)
  })

  test('allows the removal of one of two owners', () => {
    const two = [...users, { userId: 'own2', role: 'owner' } as const]
    expect(refuseUserChange(two, 'own', { kind: 'remove', userId: 'own' })).toBeUndefined()
  })
})
