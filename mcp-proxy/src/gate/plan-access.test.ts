import type { Tool } from '@tollgate/domain/catalog/tool'
import { expect, test } from 'vitest'
import type { ServedServer, ServedTool } from '../servers/served-server.ts'
import { servedToolsOf } from '../servers/load-server.ts'
import { isOpenToPlan } from './plan-access.ts'

const plans: ServedTool = { access: 'plans', planRefs: ['pro'] }
const tools: Record<string, ServedTool> = {
  paid: plans,
  reserved: { ...plans, onlyListedPlans: true },
  nobodys: { access: 'plans', planRefs: [], onlyListedPlans: true },
  every: { access: 'every-plan', planRefs: [], onlyListedPlans: true },
}
const server = {
  tools: new Map(Object.entries(tools)),
  defaultPlanRef: 'free',
} as Partial<ServedServer>

test.each([
  ['paid', ['free', 'pro']],
  ['reserved', ['pro']],
  ['nobodys', []],
  ['every', ['free', 'pro', 'other']],
  ['unknown', ['free']],
])('the tool %s is open to the plans %j', (toolName, expected) => {
  const open = ['', 'free', 'pro', 'other'].filter((plan) =>
    isOpenToPlan(server as ServedServer, toolName, plan),
  )
  expect(open).toEqual(expected)
})

test('keeps a reserved tool reserved while the MCP server does not list it', () => {
  const reserved: Tool = {
    ...{ name: 'reserved', description: null, access: 'plans', planRefs: ['pln_pro'] },
    ...{ onlyListedPlans: true, cancelledCalls: 'always', hasVanished: true },
  }
  const tools = servedToolsOf([reserved])
  const served = { tools, defaultPlanRef: 'pln_free' } as unknown as ServedServer
  expect(isOpenToPlan(served, 'reserved', 'pln_free')).toBe(false)
  expect(isOpenToPlan(served, 'reserved', 'pln_pro')).toBe(true)
  expect(tools.get('reserved')?.cancelledCalls).toBe('always')
})
