import { connect } from 'node:net'
import { AnswerReader, type HttpAnswer } from './answer-reader.ts'
import type { HostileRequest } from './hostile-request.ts'

export type HostileConnection = {
  /**
   * Sends all requests at once and resolves with an answer for each, in order. An entry is undefined if no answer arrived before
   * the connection ended or the timeout was reached.
   */
  exchange(
    requests: readonly HostileRequest[],
    packets: readonly Buffer[],
    timeoutMs: number,
  ): Promise<(HttpAnswer | undefined)[]>
  readonly isOpen: boolean
  destroy(): void
}

export function openHostileConnection(host: string, port: number): HostileConnection {
  const socket = connect(port, host)
  const reader = new AnswerReader()
  let isOpen = true
  let onChange = (): void => undefined
  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    reader.push(chunk)
    onChange()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    isOpen = false
    onChange()
  })
  return {
    get isOpen() {
      return isOpen
    },
    destroy: () => {
      isOpen = false
      socket.destroy()
    },
    exchange(requests, packets, timeoutMs) {
      const answers: HttpAnswer[] = []
      return new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(timer)
          onChange = () => undefined
          if (answers.length < requests.length) {
            isOpen = false
            socket.destroy()
          }
          resolve(requests.map((_, at) => answers[at]))
        }
        const timer = setTimeout(finish, timeoutMs)
        onChange = () => {
          for (let request = requests[answers.length]; request;) {
            const answer = reader.next(request.method === 'HEAD')
            if (!answer) break
            answers.push(answer)
            request = requests[answers.length]
          }
          if (answers.length === requests.length || !isOpen) finish()
        }
        for (const packet of packets) socket.write(packet)
        onChange()
      })
    },
  }
}
