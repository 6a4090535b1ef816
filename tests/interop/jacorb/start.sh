#!/bin/sh
# Starts a program of JacORB's; build.xml says which and puts this file where it belongs. The flags
# of the JVM are for a quick start.
here=$(dirname "$0")
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \
  -Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB \
  -Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton \
  -Djavax.rmi.CORBA.UtilClass=peer.NoRmi \
  -cp "$here/classes:$here/lib/*" @class@ "$@"
