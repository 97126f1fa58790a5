/*
 * Opens many connections in a separate process, so that they share neither the event loop nor the open files with the measuring
 * process. Usage: main.js <slow|endless> <base url> <connections> <key>. Ends with its parent.
 */
import { planOf, type CrowdKind } from './behaviours.ts'
import { CrowdConnections } from './crowd-connections.ts'

const [kind, baseUrl = '', size, key = ''] = process.argv.slice(2)
const { hostname, port } = new URL(baseUrl)
const crowd = new CrowdConnections(
  { host: hostname, port: Number(port) },
  planOf(kind as CrowdKind, Number(size), key),
)
const reportEveryMs = 250
setInterval(() => {
  // The parent may have gone before this process learns of it. Without a callback, the failed send would throw.
  process.send?.(crowd.stats(), () => {})
}, reportEveryMs)
process.on('disconnect', () => {
  crowd.end()
  process.exit(0)
})
