import { spawnChdbGateway } from '../src/chdb-gateway/spawn-chdb-gateway.ts'

/** A parent process to be killed: starts a gateway with the folder and password of its arguments, and stays. */
const [folder = '', password = ''] = process.argv.slice(2)
const gateway = await spawnChdbGateway({ folder, password })
process.send?.({ url: gateway.url })
setInterval(() => {}, 60_000)
