// A bed in a process of its own, for tests that kill it. Its first line says where it lives.
import { startBed } from './bed.ts'

await startBed({ say: console.log })
setInterval(() => {}, 1000)
