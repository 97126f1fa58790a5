import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { requireProgram } from '../../engines/programs.ts'
import { host } from '@tollgate/deploy/standalone/ports'

const run = promisify(execFile)
const clients = 64

/** Calls per second of redis-benchmark: what one round trip of a limit check is at least. */
export async function measureRedis(
  port: number,
  calls: number,
  say: (line: string) => void,
): Promise<number> {
  // It comes with the client's package.
  await requireProgram('redis-cli', say)
  const { stdout } = await run('redis-benchmark', [
    ...['-h', host, '-p', String(port), '-c', String(clients), '-n', String(calls), '--csv'],
    ...['EVAL', "return redis.call('HGETALL', KEYS[1])", '1', 'ceiling'],
  ])
  return readCallsPerSecond(stdout)
}

/** The second field of the last line; the first is the command, in quotes and with commas of its own. */
export function readCallsPerSecond(csv: string): number {
  const [, rate] = /"(\d+\.\d+)"(?:,"\d+\.\d+")*\s*$/m.exec(csv.trim().split('\n').at(-1)!) ?? []
  if (rate === undefined) throw new Error(`redis-benchmark printed no result:\n${csv}`)
  return Number(rate)
}
