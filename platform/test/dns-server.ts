import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'

/** Returns the addresses of a name; those of the wrong kind for a question are omitted. */
type AddressesOf = (name: string) => readonly string[]

/** Starts a name server on this machine. `asked` has the names of its questions, once per kind of address. */
export async function openDnsServer(addressesOf: AddressesOf) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question)
    asked.push(name)
    const family = type === typeA ? 4 : 6
    const found = addressesOf(name).filter((address) => isIP(address) === family)
    socket.send(answer(question.subarray(0, end), found, type), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  }
}

const headerBytes = 12
const typeA = 1

/** `end` is the end of the question; anything after it is ignored. */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function answer(question: Buffer, addresses: readonly string[], type: number): Buffer {
  const header = Buffer.from(question)
  header.writeUInt16BE(0x8180, 2) // an answer without error
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8) // nothing besides
  return Buffer.concat([header, ...addresses.map((address) => record(address, type))])
}

/** Returns a record for the name of the question with a TTL of 0. */
function record(address: string, type: number): Buffer {
  const data = type === typeA ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc000 + headerBytes, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.byteLength, 10)
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  // URL writes an IPv4 tail in hexadecimal digits.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':'))
  const tail = right === undefined ? [] : groupsOf(right)
  const head = groupsOf(left)
  const zeros = Array<string>(8 - head.length - tail.length).fill('0')
  const groups = [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0'))
  return Buffer.from(groups.join(''), 'hex')
}
