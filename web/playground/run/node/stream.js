// The classes that packages derive from. Data flows through requests and responses only (node:http).
// CommonJS, because `require('stream')` is the class itself.
const { EventEmitter } = require('events');

class Stream extends EventEmitter {
  constructor() {
    super();
    this.readable = true;
  }

  pipe() {
    throw new Error('A page has no node:stream (pipe was used)');
  }
}
class Readable extends Stream {}
class Writable extends Stream {}
class Duplex extends Stream {}
class Transform extends Duplex {}
class PassThrough extends Transform {}

module.exports = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough });
