#!/usr/bin/env node
/*
 * `tollgate` for the PATH of a shell. Like `npm run tollgate --`, but without npm's output. See docs/cli.md.
 */
process.argv.splice(2, 0, 'tollgate')
await import('./start.mjs')
