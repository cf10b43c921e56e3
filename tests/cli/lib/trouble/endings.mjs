// How commands are disturbed by who has started them: signals one after another, pipes and terminals that are closed, stops.
import { Ground } from './ground.mjs';

/** `script` of other systems takes other options. */
const HAS_TERMINALS = process.platform === 'linux';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export class Endings extends Ground {
  strain(dice) {
    if (dice.chance(0.1)) return undefined;
    const kind = dice.weighted({ signals: 3, pipe: 2, stop: 1, terminal: HAS_TERMINALS ? 2 : 0 });
    const after = dice.between(0, dice.one([10, 50, 200, 400]));
    if (kind === 'signals') {
      const between = dice.one([0, 1, 5, 20, 100]);
      const signals = Array.from({ length: dice.between(1, 3) }, () => dice.one(SIGNALS));
      if (dice.chance(0.2)) signals.push('SIGKILL');
      return new Signals(signals, after, between);
    }
    if (kind === 'pipe') return new ClosedPipes(dice.one([['stdout'], ['stderr'], ['stdout', 'stderr']]), after);
    if (kind === 'stop') return new Signals(['SIGSTOP', 'SIGCONT'], after, dice.between(1, 300));
    return new ClosedTerminal(after);
  }
}

/** What is said of a strain that does not begin by itself but with each command. */
class OfCommands {
  codes = [];
  begin() {}
  end() {}
}

class Signals extends OfCommands {
  constructor(signals, after, between) {
    super();
    this.said = `${signals} after ${after} ms, each ${between} ms after the one before`;
    if (!signals.includes('SIGSTOP')) this.codes = ['CANCELLED'];
    // Who is told twice ends at once.
    this.isTearing = signals.length > 1 && !signals.includes('SIGSTOP');
    this.endings = signals.includes('SIGKILL') ? ['SIGKILL'] : [];
    // Before it listens to them, they end it.
    this.endings.push(...signals);
    this.signals = signals;
    this.after = after;
    this.between = between;
  }

  disturb(child) {
    const timers = this.signals.map((signal, index) =>
      setTimeout(() => child.kill(signal), this.after + index * this.between),
    );
    // One that is stopped would not go on by itself.
    child.on('close', () => timers.forEach(clearTimeout));
  }
}

class ClosedPipes extends OfCommands {
  constructor(pipes, after) {
    super();
    this.said = `${pipes} closed after ${after} ms`;
    this.pipes = pipes;
    this.after = after;
    this.isSilent = true;
  }

  disturb(child) {
    const close = () => {
      for (const pipe of this.pipes) child[pipe].destroy();
    };
    if (this.after === 0) close();
    else setTimeout(close, this.after);
  }
}

class ClosedTerminal extends OfCommands {
  codes = ['CANCELLED'];
  isSilent = true;
  isOnTerminal = true;

  constructor(after) {
    super();
    this.said = `the terminal is closed after ${after} ms`;
    this.after = after;
  }
}
