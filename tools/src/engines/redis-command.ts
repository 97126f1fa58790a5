import { requestOverTcp } from './probes.ts'

/** Returns the raw answer to an inline command, or an empty string if none arrives in time. */
export async function sendRedisCommand(
  port: number,
  command: string,
  timeoutMs?: number,
): Promise<string> {
  const answer = await requestOverTcp(
    port,
    Buffer.from(`${command}\r\n`),
    isCompleteAnswer,
    timeoutMs,
  )
  return answer?.toString('latin1') ?? ''
}

/** Returns whether the answer is complete: a line, or a bulk string of the form `$<bytes>`, line break, bytes, line break. */
function isCompleteAnswer(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n')
  if (headEnd < 0) return false
  const [, bytes] = /^\$(\d+)$/.exec(answer.toString('latin1', 0, headEnd)) ?? []
  return bytes === undefined || answer.length >= headEnd + 2 + Number(bytes) + 2
}
