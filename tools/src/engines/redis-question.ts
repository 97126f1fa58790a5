import { askOverTcp } from './tcp-question.ts'

/** The raw answer to a command of plain words; empty when there is none in time. */
export async function askRedis(
  port: number,
  command: string,
  patienceMs?: number,
): Promise<string> {
  const answer = await askOverTcp(port, Buffer.from(`${command}\r\n`), isWhole, patienceMs)
  return answer?.toString('latin1') ?? ''
}

/** A line, or `$<bytes>`, a line break, that many bytes and another line break. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n')
  if (headEnd < 0) return false
  const [, bytes] = /^\$(\d+)$/.exec(answer.toString('latin1', 0, headEnd)) ?? []
  return bytes === undefined || answer.length >= headEnd + 2 + Number(bytes) + 2
}
