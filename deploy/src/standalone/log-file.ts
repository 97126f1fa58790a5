import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'

export type LogFile = {
  write(chunk: Uint8Array): void
  /** The last lines written, for the moment a service could not start. */
  tail(): string
  close(): void
}

const tailBytes = 4_096
const bufferedBytesMax = 1_048_576

/**
 * Keeps at most two files of `bytesMax`: the current one and its predecessor (`.1`). Lines are dropped, and counted
 * in the file later, when the disk does not take them: a full disk must not stop the service that logs.
 */
export function openLogFile(path: string, bytesMax: number): LogFile {
  let size = sizeOf(path)
  let stream = openStream(path)
  let tail = Buffer.alloc(0)
  let droppedChunks = 0

  function rotate(): void {
    stream.end()
    try {
      renameSync(path, `${path}.1`)
    } catch {
      // Without room for a rename the current file goes on growing by what the disk still takes.
    }
    stream = openStream(path)
    size = sizeOf(path)
  }

  return {
    write(chunk) {
      tail = Buffer.concat([tail, chunk]).subarray(-tailBytes)
      if (stream.destroyed) stream = openStream(path)
      if (stream.writableLength > bufferedBytesMax) {
        droppedChunks++
        return
      }
      if (size + chunk.length > bytesMax) rotate()
      if (droppedChunks > 0) {
        stream.write(`${JSON.stringify({ level: 40, msg: 'log lines dropped', droppedChunks })}\n`)
        droppedChunks = 0
      }
      size += chunk.length
      stream.write(chunk)
    },
    tail: () => tail.toString('utf8'),
    close: () => stream.end(),
  }
}

function openStream(path: string): WriteStream {
  const stream = createWriteStream(path, { flags: 'a' })
  // After an error the stream is destroyed and the next line opens a new one.
  stream.on('error', () => undefined)
  return stream
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
