import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

const host = '127.0.0.1'
const produce = 0

/** The fate of a produce request: it passes, is lost, is cut off in the middle, or is stored and its answer is lost. */
export type Fate = 'passes' | 'lost' | 'cut' | 'unanswered'

/**
 * A proxy in front of one broker on this machine that cuts connections at produce requests. It replaces the broker's port in
 * responses by its own, so that clients do not go around it.
 */
export class CuttingProxy {
  readonly #brokerPort: number
  readonly #decide: (inFlight: number) => Fate
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Largest number of produce requests without an answer on one connection. */
  inFlightMax = 0
  cuts = 0

  /** `decide` gets the number of produce requests in flight, including this one. */
  constructor(brokerPort: number, decide: (inFlight: number) => Fate) {
    this.#brokerPort = brokerPort
    this.#decide = decide
    this.#server = createServer((client) => this.#pass(client))
  }

  async listen(): Promise<string> {
    this.#server.listen(0, host)
    await once(this.#server, 'listening')
    return `${host}:${this.#port}`
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  #pass(client: Socket): void {
    const broker = connect(this.#brokerPort, host)
    const end = (): void => {
      client.destroy()
      broker.destroy()
    }
    for (const socket of [client, broker]) {
      this.#sockets.add(socket)
      socket.on('error', end).on('close', () => {
        this.#sockets.delete(socket)
        end()
      })
    }
    /** Correlation ids of produce requests without an answer. */
    const waiting = new Set<number>()
    const unanswered = new Set<number>()
    const cut = (): void => {
      this.cuts += 1
      end()
    }
    onFrames(client, (frame) => {
      if (frame.readInt16BE(4) !== produce) return void broker.write(frame)
      waiting.add(frame.readInt32BE(8))
      this.inFlightMax = Math.max(this.inFlightMax, waiting.size)
      const fate = this.#decide(waiting.size)
      if (fate === 'lost') return cut()
      if (fate === 'unanswered') unanswered.add(frame.readInt32BE(8))
      if (fate === 'cut') return void broker.write(frame.subarray(0, frame.byteLength >> 1), cut)
      broker.write(frame)
    })
    onFrames(broker, (frame) => {
      const id = frame.readInt32BE(4)
      waiting.delete(id)
      if (unanswered.has(id)) return cut()
      client.write(this.#withOwnPort(frame))
    })
  }

  #withOwnPort(frame: Buffer): Buffer {
    const address = (port: number): Buffer => {
      const bytes = Buffer.alloc(2 + host.length + 4)
      bytes.writeInt16BE(host.length)
      bytes.write(host, 2)
      bytes.writeInt32BE(port, 2 + host.length)
      return bytes
    }
    const [theirs, ours] = [address(this.#brokerPort), address(this.#port)]
    for (let at = frame.indexOf(theirs); at >= 0; at = frame.indexOf(theirs, at + 1)) {
      ours.copy(frame, at)
    }
    return frame
  }
}

/** Calls back with each request or response: four bytes of length, and what follows. */
function onFrames(socket: Socket, callback: (frame: Buffer) => void): void {
  let buffered = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.byteLength >= 4) {
      const end = 4 + buffered.readInt32BE(0)
      if (buffered.byteLength < end || socket.destroyed) return
      callback(buffered.subarray(0, end))
      buffered = buffered.subarray(end)
    }
  })
}
