export { keepCopy } from '../chaos/older-copy.ts'
