import { expect, test } from 'vitest'
import type { ServedServer, ServedTool } from '../servers/served-server.ts'
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
