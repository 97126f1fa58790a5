import { expect, test } from 'vitest'
import { changeRefusal, roleRefusal } from './change-refusal.ts'

const owner = { userId: 'own', role: 'owner' } as const
const admin = { userId: 'adm', role: 'admin' } as const
const member = { userId: 'mem', role: 'member' } as const
const users = [owner, admin, member]
const remove = (userId: string) => ({ kind: 'remove', userId }) as const

test('an admin cannot change owners, and can change all others', () => {
  const refusal = 'Only owners can appoint, change or remove owners. Ask an owner.'
  expect(roleRefusal(users, admin, owner)).toBe(refusal)
  expect(changeRefusal(users, admin, remove('own'))).toBe(refusal)
  expect(changeRefusal(users, admin, { kind: 'send-link', userId: 'own' })).toBe(refusal)
  expect(changeRefusal([admin], admin, { kind: 'invite', role: 'owner' })).toBe(refusal)
  expect(changeRefusal([admin], admin, { kind: 'invite', role: 'admin' })).toBeUndefined()
  for (const other of [admin, member]) {
    expect(roleRefusal(users, admin, other)).toBeUndefined()
    expect(changeRefusal(users, admin, remove(other.userId))).toBeUndefined()
  }
})

test('the last owner stays an owner until there is another one', () => {
  const refusal = 'This person is the last owner. Appoint another owner first.'
  expect(roleRefusal(users, owner, owner)).toBe(refusal)
  expect(changeRefusal(users, owner, remove('own'))).toBe(refusal)
  expect(changeRefusal(users, owner, { kind: 'send-link', userId: 'own' })).toBeUndefined()
  const two = [...users, { userId: 'own2', role: 'owner' } as const]
  expect(roleRefusal(two, owner, owner)).toBeUndefined()
  expect(changeRefusal(two, owner, remove('own'))).toBeUndefined()
})
