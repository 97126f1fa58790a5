import { spawnChdbGateway } from '../src/chdb-gateway/spawn-chdb-gateway.ts'

/** A parent to be killed: starts a gateway on the folder of its argument and stays. */
const gateway = await spawnChdbGateway({ folder: process.argv[2] ?? '', password: 'held' })
process.send?.({ pid: gateway.process.pid })
setInterval(() => {}, 60_000)
