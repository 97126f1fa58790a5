import { playShare } from './play-share.ts'

playShare(0, 'never yields more than one price pays for, and never charges twice')
