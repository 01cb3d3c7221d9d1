// A bed in a process of its own, for tests that kill it. Says where it lives as soon as the folder is there.
import { startBed } from './bed.ts'

await startBed({ onFolder: (folder) => console.log(folder) })
setInterval(() => {}, 1000)
