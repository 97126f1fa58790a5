import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { createEmbeddedStack } from '../stack-under-test.ts'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { blocksUnder } from '../walk/shell-blocks.ts'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'

export type Body = Readonly<Record<string, unknown>>

/** A page of docs/businesses, whose commands run on an installation with a clock that the test sets. */
export type DocumentedBusiness = {
  readonly clock: ManualClock
  readonly client: TollgateClient
  /** Runs all commands below a heading in one shell, which keeps its variables. Returns the responses of the API in order. */
  run(heading: string): Promise<Body[]>
  /** Returns the value that a shell variable of the page has. */
  variable(name: string): Promise<string>
  /** Sets the clock to a time after a month ended. Waits for its invoice and returns it as the page shows it. */
  invoiceAt(instantMs: number): Promise<Body>
  stop(): Promise<void>
}

const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Longer than any month, with the hour after which its usage is billed. */
export const billedMonthMs = 31 * dayMs + 2 * hourMs

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const endMark = 'tollgate-test-end-of-block'

/** Starts the clock near the time of the machine, by which hot state decides which buckets of windows it keeps. */
export async function startDocumentedBusiness(
  page: string,
  startsAtMs: number,
): Promise<DocumentedBusiness> {
  const clock = createManualClock(new Date(startsAtMs).toISOString())
  const underTest = await createEmbeddedStack('ingest', {
    clock,
    hasBillingRunner: true,
    settings: { TOLLGATE_SCHEDULE_LOOK_MS: '100', TOLLGATE_BILLING_RETRY_PAUSE_MS: '100' },
  })
  const { stack } = underTest
  const provider = await stack.createProvider()
  const shell = startShell()
  // Pages use the shell function `api` and the key of the first guide.
  const [definition] = blocksUnder(`${docs}getting-started.md`, 'Get a key', 'sh')
  await shell.run(
    definition!
      .replaceAll('http://127.0.0.1:8787', stack.baseUrl)
      .replace('sk_sandbox_…', provider.keys.sandbox),
  )
  const run = async (heading: string): Promise<Body[]> => {
    const responses: Body[] = []
    for (const block of blocksUnder(`${docs}businesses/${page}`, heading, 'sh')) {
      const lines = (await shell.run(block)).split('\n').filter((line) => /^[{[]/.test(line))
      responses.push(...lines.map((line) => JSON.parse(line) as Body))
    }
    return responses
  }
  let invoices = 0
  return {
    clock,
    client: provider.sandbox,
    run,
    invoiceAt: async (instantMs) => {
      clock.set(instantMs)
      invoices += 1
      const issued = async () => {
        const path = '/v1/ui/invoices?customerRef=user_1'
        return ((await provider.sandbox.require('GET', path, undefined)) as { total: number }).total
      }
      await expect.poll(issued, { timeout: 60_000, interval: 200 }).toBe(invoices)
      return (await run('Read the invoice'))[0]!
    },
    variable: async (name) => (await shell.run(`echo "$${name}"`)).trim(),
    stop: async () => {
      await shell.stop()
      await underTest.remove()
    },
  }
}

/** Starts bash. It runs blocks one after the other and keeps variables between them, like the reader's terminal. */
function startShell() {
  const child = spawn('bash', { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return {
    run: async (block: string): Promise<string> => {
      output = ''
      child.stdin.write(`${block}\necho "${endMark} $?"\n`)
      for (;;) {
        const end = new RegExp(`${endMark} (\\d+)\n`).exec(output)
        if (end === null) {
          await once(child.stdout, 'data')
          continue
        }
        if (end[1] !== '0') throw new Error(`${block}\nfailed with ${end[1]}: ${errors}`)
        return output.slice(0, end.index)
      }
    },
    stop: async () => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
