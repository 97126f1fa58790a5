import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { requireProgram } from '../../engines/programs.ts'
import { host } from '@tollgate/deploy/standalone/ports'

const run = promisify(execFile)
const clients = 64

/** Returns the calls per second of redis-benchmark. They show the minimal cost of one round trip of a limit check. */
export async function measureRedis(
  port: number,
  calls: number,
  print: (line: string) => void,
): Promise<number> {
  // redis-benchmark is in the same package as redis-cli.
  await requireProgram('redis-cli', print)
  const { stdout } = await run('redis-benchmark', [
    ...['-h', host, '-p', String(port), '-c', String(clients), '-n', String(calls), '--csv'],
    ...['EVAL', "return redis.call('HGETALL', KEYS[1])", '1', 'ceiling'],
  ])
  return readCallsPerSecond(stdout)
}

/** Returns the second field of the last line. The first field is the command in quotes, which contains commas. */
export function readCallsPerSecond(csv: string): number {
  const [, rate] = /"(\d+\.\d+)"(?:,"\d+\.\d+")*\s*$/m.exec(csv.trim().split('\n').at(-1)!) ?? []
  if (rate === undefined) throw new Error(`redis-benchmark printed no result:\n${csv}`)
  return Number(rate)
}
