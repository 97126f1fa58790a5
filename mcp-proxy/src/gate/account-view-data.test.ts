import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { expect, test } from 'vitest'
import type { ServedServer } from '../servers/served-server.ts'
import { accountViewData } from './account-view-data.ts'

const terms = { type: 'recurring', currency: 'USD', billingCycle: 'monthly', units: 9 }
const free = { reference: 'pln_free', name: 'Free', price: 0, ...terms }
const pro = { reference: 'pln_pro', name: 'Pro', price: 900, ...terms }
const old = { reference: 'pln_old', name: 'Old', price: 500, ...terms }
const server = {
  productName: 'Search',
  plans: [
    { ...free, isOffered: true },
    { ...pro, isOffered: true },
    { ...old, isOffered: false },
  ],
} as unknown as ServedServer

const usage = { total: 3, used: 2, remaining: 1 }
const infoWith = (changes: object) =>
  ({ purchase: { plan: { reference: 'pln_old' }, usage, ...changes } }) as UserInfoResponse

const url = 'https://hosted.test/customer/connect/con_1'
const view = { kind: 'upgrade', url, server, planRef: undefined, info: infoWith({}) } as const

test("shows the customer's plan, even if it is no longer offered, and the offered plans", () => {
  expect(accountViewData(view)).toEqual({
    ...{ kind: 'upgrade', url, product: 'Search' },
    current: { plan: 'Old', usage },
    plans: [free, pro],
  })
})

test.each([
  ['pln_pro', [pro]],
  ['pln_old', [free, pro]],
  ['pln_unknown', [free, pro]],
])('shows only the named plan if it is offered: %s', (planRef, plans) => {
  expect(accountViewData({ ...view, planRef })).toMatchObject({ plans })
})

test('shows no plans together with the account', () => {
  expect(accountViewData({ ...view, kind: 'account' })).toMatchObject({ plans: [] })
})

test.each([
  ['nothing is known of the customer', undefined, null],
  ['the customer has no plan', { status: 'none' } as UserInfoResponse, null],
  [
    'the plan has no cap',
    infoWith({ usage: { total: 0, used: 5, remaining: 0 } }),
    { plan: 'Old' },
  ],
])('leaves out the usage if %s', (_name, info, current) => {
  expect(accountViewData({ ...view, info })).toMatchObject({ current })
})
