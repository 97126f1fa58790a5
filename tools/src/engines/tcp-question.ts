import { connect } from 'node:net'
import { host } from '@tollgate/deploy/standalone/ports'

const usualPatienceMs = 2_000

/** Sends bytes and collects the answer until it is complete. Returns undefined if none arrives in time. */
export function askOverTcp(
  port: number,
  question: Uint8Array,
  isWhole: (answer: Buffer) => boolean,
  patienceMs = usualPatienceMs,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0)
    const socket = connect(port, host)
    const finish = (result: Buffer | undefined): void => {
      clearTimeout(late)
      socket.destroy()
      resolve(result)
    }
    const late = setTimeout(() => finish(undefined), patienceMs)
    socket.once('connect', () => socket.write(question))
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk])
      if (isWhole(answer)) finish(answer)
    })
    socket.once('error', () => finish(undefined))
    socket.once('close', () => finish(undefined))
  })
}

const httpTimeoutMs = 2_000

/** Returns whether a request is answered successfully in time. */
export async function answersHttp(
  url: string,
  headers: Record<string, string> = {},
): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(httpTimeoutMs) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}
