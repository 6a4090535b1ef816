#!/bin/sh
# Starts a program of JacORB's; build.xml says which and puts this file where it belongs. The flags
# of the JVM are for a quick start, and for values that are deep in one another.
here=$(dirname "$0")
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xss64m \
  -Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB \
  -Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton \
  -Djavax.rmi.CORBA.UtilClass=peer.NoRmi \
  -cp "$here/classes:$here/lib/*" @class@ "$@"
