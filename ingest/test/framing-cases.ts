/** Raw bytes in which two programs may find different requests, with the requests that may be executed. */
export type FramingCase = {
  readonly name: string
  /** Contains `{first}` in place of the target of the first request. */
  readonly bytes: string
  /** Bodies of the requests that node:http executes: the first one and those that follow. */
  readonly executed: readonly string[]
  /** The same for uWebSockets.js if it refuses more. It never executes more. */
  readonly executedByUws?: readonly string[]
  /** Possible statuses of the response that ends the connection, if there is one. */
  readonly refusedWith?: readonly number[]
}

const post = 'POST {first} HTTP/1.1\r\nHost: a\r\n'
const next = 'POST /next HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nnext'
const nothing: readonly string[] = []
const only = ['hello']

/** Returns a case with one head, a body and another request in one packet. */
function refused(name: string, head: string, body = 'hello'): FramingCase {
  return { ...refusedOrIgnored(name, head, body), refusedWith: [400] }
}

/** Returns a case that the native parser may leave unanswered: it waits for more bytes and executes nothing. */
function refusedOrIgnored(name: string, head: string, body = 'hello'): FramingCase {
  return { name, bytes: `${post}${head}\r\n\r\n${body}${next}`, executed: nothing }
}

const chunkedHead = `${post}Transfer-Encoding: chunked\r\n\r\n`

/** Returns a case that node:http executes and uWebSockets.js answers with 411. */
function chunked(name: string, body: string, executed: readonly string[]): FramingCase {
  return { name, bytes: `${chunkedHead}${body}${next}`, executed, executedByUws: nothing }
}

const chunks = '5\r\nhello\r\n0\r\n\r\n'

const lengths: readonly FramingCase[] = [
  refused('two lengths', 'Content-Length: 5\r\nContent-Length: 6'),
  refused('one length twice', 'Content-Length: 5\r\nContent-Length: 5'),
  refused('two lengths, the shorter last', 'Content-Length: 99\r\nContent-Length: 5'),
  refused('an empty length before another', 'Content-Length:\r\nContent-Length: 5'),
  refused('an empty length', 'Content-Length:', ''),
  refused('a list of lengths', 'Content-Length: 5, 5'),
  refused('a length with a sign', 'Content-Length: +5'),
  refused('a negative length', 'Content-Length: -5'),
  refused('a hexadecimal length', 'Content-Length: 0x5'),
  refused('a length with a letter', 'Content-Length: 5a'),
  refused('a length with an exponent', 'Content-Length: 5e0'),
  refused('a length with a fraction', 'Content-Length: 5.0'),
  refused('a length with a space inside', 'Content-Length: 5 5'),
  refused('a length behind a second colon', 'Content-Length:: 5'),
  refused('a length of 23 digits', `Content-Length: ${'5'.padStart(23, '0')}`),
  refused('a length beyond 64 bits', 'Content-Length: 18446744073709551621'),
]

const codings: readonly FramingCase[] = [
  refused('a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked', chunks),
  refused('chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5', chunks),
  refused('a length of 0 and chunks', 'Content-Length: 0\r\nTransfer-Encoding: chunked', chunks),
  refused('an empty length and chunks', 'Content-Length:\r\nTransfer-Encoding: chunked', chunks),
  refused('another coding', 'Transfer-Encoding: gzip', chunks),
  refused('no coding', 'Transfer-Encoding: identity'),
  refused('an empty coding', 'Transfer-Encoding:', chunks),
  refused('two codings', 'Transfer-Encoding: gzip, chunked', chunks),
  refused('chunked twice in a line', 'Transfer-Encoding: chunked, chunked', chunks),
  refused('chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', chunks),
  refused('chunked and none', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunks),
  refused('none and chunked', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked', chunks),
  refused('chunked in capitals', 'Transfer-Encoding: Chunked', chunks),
  refusedOrIgnored('a coding with a vertical tab', 'Transfer-Encoding: \vchunked', chunks),
  refused('a coding in quotes', 'Transfer-Encoding: "chunked"', chunks),
]

const chunkLines: readonly FramingCase[] = [
  chunked('a chunked body', chunks, ['hello', 'next']),
  chunked('a chunk extension', '5;a=b\r\nhello\r\n0\r\n\r\n', ['hello', 'next']),
  chunked('a chunk extension without a name', '5;\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('an extension that the native parser takes for digits', '1;\r\nh\r\n0\r\n\r\n', nothing),
  chunked('a space behind the size', '5 \r\nhello\r\n0\r\n\r\n', nothing),
  chunked('LF alone behind the size', '5\nhello\r\n0\r\n\r\n', nothing),
  chunked('LF alone behind the chunk', '5\r\nhello\n0\r\n\r\n', nothing),
  chunked('LF alone behind the last size', '5\r\nhello\r\n0\n\r\n', nothing),
  chunked('LF alone at the end', '5\r\nhello\r\n0\r\n\n', nothing),
  chunked('LF alone within an extension', '5;a=\nb\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('no line end behind the chunk', '5\r\nhelloXX0\r\n\r\n', nothing),
  chunked('a size that is no number', 'g\r\n0123456789abcdef\r\n0\r\n\r\n', nothing),
  chunked('a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('a size with a sign', '+5\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('an empty size', '\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('a size beyond 64 bits', '10000000000000005\r\nhello\r\n0\r\n\r\n', nothing),
  chunked('trailers', '5\r\nhello\r\n0\r\nX: y\r\n\r\n', ['hello', 'next']),
  chunked('a request where the trailers end', '5\r\nhello\r\n0\r\nXY', nothing),
]

const heads: readonly FramingCase[] = [
  refusedOrIgnored('a folded header', 'X: a\r\n b\r\nContent-Length: 5'),
  refusedOrIgnored(
    'a length in a folded header',
    'X: a\r\n Content-Length: 9\r\nContent-Length: 5',
  ),
  refusedOrIgnored('a space before the colon', 'Content-Length : 5'),
  refusedOrIgnored('a tab before the colon', 'Content-Length\t: 5'),
  refusedOrIgnored('NUL in a value', 'X: a\0b\r\nContent-Length: 5'),
  refusedOrIgnored('CR in a value', 'X: a\rb\r\nContent-Length: 5'),
  refusedOrIgnored('LF in a value', 'X: a\nContent-Length: 9\r\nContent-Length: 5'),
  refusedOrIgnored('a line without a colon', 'X\r\nContent-Length: 5'),
  refusedOrIgnored('a control character in a name', 'X\x01: a\r\nContent-Length: 5'),
  refusedOrIgnored('a name that is no ASCII', 'Content-L\xe9ngth: 9\r\nContent-Length: 5'),
  refused('two hosts', 'Host: b\r\nContent-Length: 5'),
  refused('two keys', 'Authorization: a\r\nAuthorization: b\r\nContent-Length: 5'),
  {
    name: 'another expectation',
    bytes: `${post}Expect: 200-maybe\r\nContent-Length: 5\r\n\r\nhello`,
    executed: nothing,
    refusedWith: [417],
  },
  {
    name: 'no host',
    bytes: `POST {first} HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello${next}`,
    executed: nothing,
    refusedWith: [400],
  },
  {
    name: 'chunks in HTTP/1.0',
    bytes: `${chunkedHead.replace('1.1', '1.0')}${chunks}${next}`,
    executed: nothing,
    refusedWith: [400, 505],
  },
  {
    name: 'HTTP/1.0',
    bytes: `${post.replace('1.1', '1.0')}Content-Length: 5\r\n\r\nhello${next}`,
    executed: only,
    executedByUws: nothing,
  },
  {
    name: 'HTTP/1.2',
    bytes: `${post.replace('1.1', '1.2')}Content-Length: 5\r\n\r\nhello${next}`,
    executed: nothing,
    refusedWith: [400, 505],
  },
  {
    name: 'a URL for a target',
    bytes: `${post.replace('{first}', 'http://a{first}')}Content-Length: 5\r\n\r\nhello${next}`,
    executed: nothing,
    refusedWith: [400, 505],
  },
  {
    name: 'LF for line ends',
    bytes: `${post}Content-Length: 5\r\n\r\n`.replaceAll('\r', '') + `hello${next}`,
    executed: nothing,
    refusedWith: [400, 505],
  },
  {
    name: 'a tunnel',
    bytes: `CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
    executed: nothing,
  },
  {
    name: 'a request behind the last one',
    bytes: `${post}Connection: close\r\nContent-Length: 5\r\n\r\nhello${next}`,
    executed: only,
  },
  {
    name: 'a request behind the last one, which a list announces',
    bytes: `${post}Connection: x, Close\r\nContent-Length: 5\r\n\r\nhello${next}`,
    executed: only,
  },
  {
    name: 'a request behind a switch of protocols',
    bytes: `${post}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello${next}`,
    executed: only,
  },
]

export const framingCases: readonly FramingCase[] = [
  ...lengths,
  ...codings,
  ...chunkLines,
  ...heads,
]

/** Requests of well-behaved clients, which both fronts execute. */
export const plainCases: readonly FramingCase[] = [
  { name: 'a length', bytes: `${post}Content-Length: 5\r\n\r\nhello`, executed: only },
  {
    name: 'a length with zeros',
    bytes: `${post}Content-Length: 0005\r\n\r\nhello`,
    executed: only,
  },
  {
    name: 'spaces around a length',
    bytes: `${post}Content-Length:  5 \r\n\r\nhello`,
    executed: only,
  },
  {
    name: 'an expectation',
    bytes: `${post}Expect: 100-Continue\r\nContent-Length: 5\r\n\r\nhello`,
    executed: only,
  },
  { name: 'no length and no body', bytes: `${post}\r\n`, executed: [''] },
]
