import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { createCommandLine } from '@tollgate/platform/cli/command-line'
import { addBillingCommands } from '../src/cli/program.ts'
import { restoreUsage } from '../src/cli/restore-command.ts'
import { reconcileNow } from '../src/cli/reconcile-command.ts'
import { runJobs } from '../src/cli/run-jobs.ts'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

let stack: RunnerStack
let shop: Shop
let purchase: Purchase

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  const plan = await stack.addPlan(shop, { price: 0, billingCycle: 'monthly' })
  purchase = await stack.buy(shop, plan)
  return () => stack.database.in('sandbox')`update purchases set status = 'expired'`
})

/** Runs `tollgate billing run` with these parameters and returns the printed lines. */
async function run(...parameters: string[]): Promise<string[]> {
  const printed: string[] = []
  const { program, output } = createCommandLine('tollgate', (line) => printed.push(line))
  const runContext = {
    output,
    stopping: new AbortController().signal,
    parts: stack.parts,
  }
  addBillingCommands(program, {
    run: (asked) => runJobs(stack.config(), asked, runContext),
    reconcile: (asked) => reconcileNow(stack.config(), asked, runContext),
    restoreUsage: (asked) => restoreUsage(stack.config(), asked, runContext),
  })
  await program.parseAsync(['billing', 'run', ...parameters], { from: 'user' })
  return printed
}

const renewals = ['--job', 'renewals', '--environment', 'sandbox']

test('prints what it would do at the given time with --dry-run, and changes nothing', async () => {
  const printed = await run(...renewals, '--at', '2026-03-01T10:00:00Z', '--dry-run')
  expect(printed).toEqual([
    'sandbox renewals: 1 due',
    `  ${shop.providerId} ${purchase.reference}: renew until 2026-03-31T12:00:00.000Z`,
  ])
  const asJson = await run(...renewals, '--at', '2026-03-01T10:00:00Z', '--dry-run', '--json')
  const items = [
    {
      providerId: shop.providerId,
      item: purchase.reference,
      change: 'renew until 2026-03-31T12:00:00.000Z',
    },
  ]
  expect(JSON.parse(asJson.join('\n'))).toEqual([
    { environment: 'sandbox', job: 'renewals', due: 1, items },
  ])
  expect(await stack.events(shop)).toEqual([])
})

test('runs the job with progress, and finds nothing to do the second time', async () => {
  const at = ['--at', '2026-03-01T10:00:00Z']
  expect(await run(...renewals, ...at)).toEqual([
    'sandbox renewals: 1 done so far',
    'sandbox renewals: 1 done',
  ])
  expect(await run(...renewals, ...at)).toEqual(['sandbox renewals: nothing to do'])
  expect((await stack.events(shop)).map(({ type }) => type)).toEqual(['purchase.renewed'])
})

test('runs every job if none is named', async () => {
  stack.clock.set('2026-03-01T10:00:00Z')
  const printed = await run()
  expect(printed).toContain('sandbox renewals: 1 done')
  expect(printed).toContain('live renewals: nothing to do')
  expect(printed).toContain('control clean-up: nothing to do')
})

test('refuses a future time for live', async () => {
  const at = ['--at', '2026-03-01T10:00:00Z']
  await expect(run('--job', 'renewals', ...at)).rejects.toThrow('before its time')
  await expect(run(...renewals, '--at', 'soon')).rejects.toThrow('--at soon')
  await expect(run('--job', 'nap')).rejects.toThrow('There is no job nap. Use one of')
})
