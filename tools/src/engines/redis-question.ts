import { askOverTcp } from './tcp-question.ts'

/** Returns the raw answer to an inline command, or an empty string if none arrives in time. */
export async function askRedis(
  port: number,
  command: string,
  patienceMs?: number,
): Promise<string> {
  const answer = await askOverTcp(port, Buffer.from(`${command}\r\n`), isWhole, patienceMs)
  return answer?.toString('latin1') ?? ''
}

/** Returns whether the answer is complete: a line, or a bulk string of the form `$<bytes>`, line break, bytes, line break. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n')
  if (headEnd < 0) return false
  const [, bytes] = /^\$(\d+)$/.exec(answer.toString('latin1', 0, headEnd)) ?? []
  return bytes === undefined || answer.length >= headEnd + 2 + Number(bytes) + 2
}
