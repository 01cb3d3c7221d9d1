// A household in a process of its own, for tests that end that process in every way. Says where it lives and who lives
// there, then does as its argument says.
import { foundHousehold } from './household.ts'

const home = foundHousehold('test')
const members = ['one', 'two'].map((name) => home.start(name, 'sh', ['-c', 'sleep 1000 & echo $!; wait']))
console.log(JSON.stringify({ folder: home.folder, pids: members.map(({ pid }) => pid) }))

const [, , then] = process.argv
if (then === 'end') await home.end()
if (then === 'throw') throw new Error('something went wrong')
if (then === 'exit') process.exit(0)
if (then === 'stay') setInterval(() => {}, 1000)
